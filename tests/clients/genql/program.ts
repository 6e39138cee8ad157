// A client of the GraphQL schema that genql writes: selections are objects, and type their answers.
// Its modules import each other without extensions, as CommonJS (package.json) or a bundler reads them.
import { createClient, GenqlError } from "./generated";

async function main(): Promise<void> {
  const client = createClient({
    url: `${process.env.DUOGRAPH}/graphql`,
    headers: { Authorization: `Bearer ${process.env.TOKEN}` },
  });

  const { createShare: share } = await client.mutation({
    createShare: {
      __args: {
        data: { name: "Field guide", prices: [{ amountType: "FIXED", priceAmount: 1900 }], metadata: { year: 2026 } },
      },
      id: true,
      prices: { amountType: true, priceAmount: true },
    },
  });
  if (!share) throw new Error("There is no share.");
  const amount: number | null | undefined = share.prices[0]?.priceAmount;

  const answer = await client.query({
    share: { __args: { id: share.id }, id: true, createdAt: true, metadata: true },
    metrics: {
      __args: { startDate: "2026-01-01", endDate: "2026-03-31", interval: "MONTH", metrics: ["COSTS"] },
      timestamps: true,
      series: { slug: true, values: true, total: true },
    },
  });
  const createdAt: string | undefined = answer.share?.createdAt;
  const year = answer.share?.metadata["year"];
  const series = answer.metrics?.series[0];
  const values: number[] | undefined = series?.values;
  const total: number | undefined = series?.total;
  if (answer.share?.id !== share.id || !createdAt) throw new Error("The share that was read is another one.");

  const refused = await client
    .mutation({ createShare: { __args: { data: { name: "x", prices: [] } }, id: true } })
    .then(() => false, (failure: unknown) => failure instanceof GenqlError && failure.errors.length > 0);
  console.log(JSON.stringify({ amount, year, costs: total, periods: values?.length, refused }));
}

void main();
