// A client of the OpenAPI document that swagger-typescript-api writes: a class with a method for each operation.
import { Api, type Error as Failure, type HttpResponse, type InvalidError } from "./generated/rest.js";

const { api } = new Api({
  baseUrl: process.env.DUOGRAPH!,
  securityWorker: () => ({ headers: { Authorization: `Bearer ${process.env.TOKEN}` } }),
});

const created = await api.createShare({
  name: "Field guide",
  prices: [{ amount_type: "fixed", price_amount: 1900 }],
  metadata: { year: 2026 },
});
const price = created.data.prices[0];
if (price?.amount_type !== "fixed") throw new Error("The price is not fixed.");
const amount: number = price.price_amount;

const read = await api.getShare(created.data.id);
const year = read.data.metadata["year"];

const metrics = await api.getMetrics({
  start_date: "2026-01-01",
  end_date: "2026-03-31",
  interval: "month",
  timezone: "Europe/Berlin",
  metrics: ["costs"],
});
const costs: number | undefined = metrics.data.totals.costs;

// The answer to a request that failed is thrown.
const refused = await api.createShare({ name: "x", prices: [] }).then(
  () => undefined,
  (answer: HttpResponse<unknown, Failure | InvalidError>) => answer.error,
);
if (refused?.error !== "invalid" || typeof refused.detail === "string") throw new Error("It was not refused.");
const problem: string | undefined = refused.detail[0]?.msg;
console.log(
  JSON.stringify({ amount, year, costs, periods: metrics.data.periods.length, refused: Boolean(problem) }),
);
