// A client of the OpenAPI document that oazapfts writes: a function for each operation, which answers by status.
import { createShare, defaults, getMetrics, getShare } from "./rest.js";

defaults.baseUrl = process.env.DUOGRAPH!;
defaults.headers = { Authorization: `Bearer ${process.env.TOKEN}` };

const created = await createShare({
  name: "Field guide",
  prices: [{ amount_type: "fixed", price_amount: 1900 }],
  metadata: { year: 2026 },
});
if (created.status !== 201) throw new Error(JSON.stringify(created));
const price = created.data.prices[0];
if (price?.amount_type !== "fixed") throw new Error("The price is not fixed.");
const amount: number = price.price_amount;

const read = await getShare(created.data.id);
if (read.status !== 200) throw new Error("The share was not read.");
const year = read.data.metadata["year"];

const metrics = await getMetrics("2026-01-01", "2026-03-31", "month", {
  timezone: "Europe/Berlin",
  metrics: ["costs"],
});
if (metrics.status !== 200) throw new Error(JSON.stringify(metrics));
const costs: number | undefined = metrics.data.totals.costs;

const refused = await createShare({ name: "x", prices: [] });
if (refused.status !== 422) throw new Error("The share should be refused.");
const problem: string | undefined = refused.data.detail[0]?.msg;
console.log(
  JSON.stringify({ amount, year, costs, periods: metrics.data.periods.length, refused: Boolean(problem) }),
);
