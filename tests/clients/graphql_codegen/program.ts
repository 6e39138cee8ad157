// A client of the GraphQL schema, whose types graphql-codegen writes (client preset).
import { graphql } from "./generated/gql.js";
import type { TypedDocumentString } from "./generated/graphql.js";

const create = graphql(`
  mutation CreateShare($data: ShareCreate!) {
    createShare(data: $data) { id name prices { amountType priceAmount } }
  }
`);
const read = graphql(`
  query ReadShare($id: ID!, $start: Date!, $end: Date!) {
    share(id: $id) { id createdAt metadata }
    metrics(startDate: $start, endDate: $end, interval: MONTH, metrics: [COSTS]) {
      timestamps
      series { slug values total }
    }
  }
`);

type Answer<Result> = { data?: Result | null; errors?: { message: string }[] };

async function ask<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Promise<Answer<Result>> {
  const response = await fetch(`${process.env.DUOGRAPH}/graphql`, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({ query: document.toString(), variables }),
  });
  return (await response.json()) as Answer<Result>;
}

const created = await ask(create, {
  data: { name: "Field guide", prices: [{ amountType: "FIXED", priceAmount: 1900 }], metadata: { year: 2026 } },
});
const share = created.data?.createShare;
if (!share) throw new Error("There is no share.");
const amount: number | null | undefined = share.prices[0]?.priceAmount;

const answer = await ask(read, { id: share.id, start: "2026-01-01", end: "2026-03-31" });
const id: string | undefined = answer.data?.share?.id;
const createdAt: string | undefined = answer.data?.share?.createdAt;
const year = answer.data?.share?.metadata["year"];
const series = answer.data?.metrics?.series[0];
const values: number[] | undefined = series?.values;
const total: number | undefined = series?.total;
if (id !== share.id || !createdAt) throw new Error("The share that was read is another one.");

const refused = await ask(create, { data: { name: "x", prices: [] } });
console.log(
  JSON.stringify({ amount, year, costs: total, periods: values?.length, refused: Boolean(refused.errors?.length) }),
);
