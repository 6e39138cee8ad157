// A client of the GraphQL schema whose documents gql.tada types while TypeScript reads them.
import { initGraphQLTada, type TadaDocumentNode } from "gql.tada";
import { print } from "graphql";
import type { introspection } from "./generated/introspection.js";

const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: {
    Date: string;
    DateTime: string;
    Decimal: string;
    HeaderFields: Record<string, string>;
    JSON: Record<string, unknown>;
    Long: number;
    Metadata: Record<string, string | number | boolean>;
    ZonedDateTime: string;
  };
}>();

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
  document: TadaDocumentNode<Result, Variables>,
  variables: Variables,
): Promise<Answer<Result>> {
  const response = await fetch(`${process.env.DUOGRAPH}/graphql`, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({ query: print(document), variables }),
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
const createdAt: string | undefined = answer.data?.share?.createdAt;
const year = answer.data?.share?.metadata["year"];
const series = answer.data?.metrics?.series[0];
const values: number[] | undefined = series?.values;
const total: number | undefined = series?.total;
if (answer.data?.share?.id !== share.id || !createdAt) throw new Error("The share that was read is another one.");

const refused = await ask(create, { data: { name: "x", prices: [] } });
console.log(
  JSON.stringify({ amount, year, costs: total, periods: values?.length, refused: Boolean(refused.errors?.length) }),
);
