// A client of the OpenAPI document, whose types openapi-typescript writes and openapi-fetch uses.
import createClient from "openapi-fetch";
import type { paths } from "./generated/rest.js";

const client = createClient<paths>({
  baseUrl: process.env.DUOGRAPH!,
  headers: { Authorization: `Bearer ${process.env.TOKEN}` },
});

const created = await client.POST("/api/shares/", {
  body: { name: "Field guide", prices: [{ amount_type: "fixed", price_amount: 1900 }], metadata: { year: 2026 } },
});
if (created.error) throw new Error(JSON.stringify(created.error.detail));
const price = created.data.prices[0];
if (price?.amount_type !== "fixed") throw new Error("The price is not fixed.");
const amount: number = price.price_amount;

const read = await client.GET("/api/shares/{id}", { params: { path: { id: created.data.id } } });
const year = read.data?.metadata["year"];

const metrics = await client.GET("/api/metrics/", {
  params: {
    query: {
      start_date: "2026-01-01",
      end_date: "2026-03-31",
      interval: "month",
      timezone: "Europe/Berlin",
      metrics: ["costs"],
    },
  },
});
const costs: number | undefined = metrics.data?.totals.costs;

const refused = await client.POST("/api/shares/", { body: { name: "x", prices: [] } });
if (refused.error?.error !== "invalid") throw new Error("The share should be refused.");
const problem: string | undefined = refused.error.detail[0]?.msg;
console.log(
  JSON.stringify({ amount, year, costs, periods: metrics.data?.periods.length, refused: Boolean(problem) }),
);
