// A client of the OpenAPI document that orval writes: a function for each operation, which answers by status.
import { createShare, getMetrics, getShare } from "./generated/rest.js";

const asked = { headers: { Authorization: `Bearer ${process.env.TOKEN}` } };

const created = await createShare(
  { name: "Field guide", prices: [{ amount_type: "fixed", price_amount: 1900 }], metadata: { year: 2026 } },
  asked,
);
if (created.status !== 201) throw new Error(JSON.stringify(created.data));
const price = created.data.prices[0];
if (price?.amount_type !== "fixed") throw new Error("The price is not fixed.");
const amount: number = price.price_amount;

const read = await getShare(created.data.id, undefined, asked);
if (read.status !== 200) throw new Error("The share was not read.");
const year = read.data.metadata["year"];

const metrics = await getMetrics(
  {
    start_date: "2026-01-01",
    end_date: "2026-03-31",
    interval: "month",
    timezone: "Europe/Berlin",
    metrics: ["costs"],
  },
  asked,
);
if (metrics.status !== 200) throw new Error(JSON.stringify(metrics.data));
const costs: number | undefined = metrics.data.totals.costs;

const refused = await createShare({ name: "x", prices: [] }, asked);
if (refused.status !== 422) throw new Error("The share should be refused.");
const problem: string | undefined = refused.data.detail[0]?.msg;
console.log(
  JSON.stringify({ amount, year, costs, periods: metrics.data.periods.length, refused: Boolean(problem) }),
);
