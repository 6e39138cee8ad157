// A client of the OpenAPI document that hey-api writes: a function for each operation.
import { createShare, getMetrics, getShare } from "./generated/index.js";
import { client } from "./generated/client.gen.js";

client.setConfig({ baseUrl: process.env.DUOGRAPH!, auth: () => process.env.TOKEN! });

const created = await createShare({
  body: { name: "Field guide", prices: [{ amount_type: "fixed", price_amount: 1900 }], metadata: { year: 2026 } },
});
if (!created.data) throw new Error(JSON.stringify(created.error));
const price = created.data.prices[0];
if (price?.amount_type !== "fixed") throw new Error("The price is not fixed.");
const amount: number = price.price_amount;

const read = await getShare({ path: { id: created.data.id } });
const year = read.data?.metadata["year"];

const metrics = await getMetrics({
  query: {
    start_date: "2026-01-01",
    end_date: "2026-03-31",
    interval: "month",
    timezone: "Europe/Berlin",
    metrics: ["costs"],
  },
});
const costs: number | undefined = metrics.data?.totals.costs;

const refused = await createShare({ body: { name: "x", prices: [] } });
if (!refused.error || refused.error.error !== "invalid") throw new Error("The share should be refused.");
const problem: string | undefined = refused.error.detail[0]?.msg;
console.log(
  JSON.stringify({ amount, year, costs, periods: metrics.data?.periods.length, refused: Boolean(problem) }),
);
