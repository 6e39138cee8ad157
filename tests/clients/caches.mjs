// Reads pages twice by urql's graphcache, which knows the schema, and by Apollo Client's cache.
// Usage: node caches.mjs <address> <token> <customer>. Prints how many requests each has sent; fails if one of them warns.
import { ApolloClient, HttpLink, InMemoryCache } from "@apollo/client";
import { relayStylePagination } from "@apollo/client/utilities";
import { Client, fetchExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";
import { getIntrospectionQuery, parse } from "graphql";

const [address, token, id] = process.argv.slice(2);
const url = `${address}/graphql`, headers = { Authorization: `Bearer ${token}` };
const warnings = [];
for (const level of ["warn", "error"]) console[level] = (...words) => warnings.push(words.join(" "));

let requests = 0;
const counting = (...call) => (requests++, fetch(...call));
const page = parse(`query Page($after: String) {
  shares(first: 2, after: $after, sorting: [NAME]) {
    edges { cursor node { id name prices { id priceAmount } metadata workspace { id name } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`);
// As a page of a customer has it: the list behind a link is read on after its cursor.
const nested = parse(`query Nested($id: ID!, $after: String) {
  customer(id: $id) {
    id
    events(first: 2, after: $after) {
      edges { cursor node { id name customerId } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
}`);
const rest = parse(`query Rest {
  viewer { kind workspaceId workspace { name } }
  deletions { data { resource resourceId } }
  customers { data { id email billingAddress { country } fileShareSessions { data { id share { id name } } } } }
  metrics(startDate: "2026-01-01", endDate: "2026-01-31", interval: MONTH, groupBy: SHARE, compare: PREVIOUS) {
    totals { costs fileShareRevenue } rows { slug path query }
    groups { key label totals { fileShareSessions } series { slug total } }
    comparison { startDate totals { costs } }
  }
}`);

async function twice(read) {
  for (let time = 0; time < 2; time++) {
    await walk((next) => read(page, next).then(({ shares }) => shares));
    await walk((next) => read(nested, { id, ...next }).then(({ customer }) => customer.events));
    await read(rest, {});
  }
}

async function walk(read) {
  let next = {};
  while (next) {
    const { pageInfo } = await read(next);
    next = pageInfo.hasNextPage && { after: pageInfo.endCursor };
  }
}

async function byUrql() {
  const asked = { method: "POST", headers: { ...headers, "Content-Type": "application/json" } };
  const body = JSON.stringify({ query: getIntrospectionQuery() });
  const { data: schema } = await (await fetch(url, { ...asked, body })).json();
  const hasId = ({ fields }) => fields.some(({ name, isDeprecated }) => name === "id" && !isDeprecated);
  const objects = schema.__schema.types.filter(({ kind }) => kind === "OBJECT");
  const keys = Object.fromEntries(objects.filter((type) => !hasId(type)).map(({ name }) => [name, () => null]));
  const cache = cacheExchange({ schema, keys, resolvers: {
    Query: { shares: relayPagination() },
    Customer: { events: relayPagination() },
  } });
  const client = new Client({
    url,
    fetch: counting,
    fetchOptions: { headers },
    preferGetMethod: false,
    exchanges: [cache, fetchExchange],
  });
  await twice(async (document, variables) => {
    const { data, error } = await client.query(document, variables).toPromise();
    if (error) throw error;
    return data;
  });
}

async function byApollo() {
  const shares = relayStylePagination(["sorting"]), events = relayStylePagination();
  const client = new ApolloClient({
    link: new HttpLink({ uri: url, headers, fetch: counting }),
    cache: new InMemoryCache({ typePolicies: { Query: { fields: { shares } }, Customer: { fields: { events } } } }),
  });
  await twice(async (query, variables) => {
    // As `fetchMore` does: all pages are one list in the cache.
    const fetchPolicy = variables.after ? "network-only" : "cache-first";
    return (await client.query({ query, variables, fetchPolicy })).data;
  });
}

for (const [name, run] of Object.entries({ urql: byUrql, apollo: byApollo })) {
  requests = 0;
  await run();
  if (warnings.length) throw new Error(`${name}: ${warnings.join("\n")}`);
  process.stdout.write(`${name} ${requests}\n`);
}
