// A client of the OpenAPI document that openapi-generator writes (typescript-fetch): a class for each tag.
import { Configuration, MetricsApi, ResponseError, SharesApi, type InvalidError } from "./generated/index.js";

const settings = new Configuration({ basePath: process.env.DUOGRAPH!, accessToken: process.env.TOKEN! });
const shares = new SharesApi(settings);

const created = await shares.createShare({
  shareCreate: {
    name: "Field guide",
    prices: [{ amountType: "fixed", priceAmount: 1900 }],
    metadata: { year: 2026 },
  },
});
const price = created.prices[0];
if (price?.amountType !== "fixed") throw new Error("The price is not fixed.");
const amount: number = price.priceAmount;

const read = await shares.getShare({ id: created.id });
const year = read.metadata["year"];

const metrics = await new MetricsApi(settings).getMetrics({
  startDate: new Date("2026-01-01"),
  endDate: new Date("2026-03-31"),
  interval: "month",
  timezone: "Europe/Berlin",
  metrics: ["costs"],
});
const costs: number | undefined = metrics.totals.costs;

// Bodies of failures are not converted: read them by the names of the document.
const refused = await shares.createShare({ shareCreate: { name: "x", prices: [] } }).then(
  () => undefined,
  (failure: unknown) => {
    if (failure instanceof ResponseError) return failure.response.json() as Promise<InvalidError>;
    throw failure;
  },
);
if (refused?.error !== "invalid") throw new Error("The share should be refused.");
const problem: string | undefined = refused.detail[0]?.msg;
console.log(
  JSON.stringify({ amount, year, costs, periods: metrics.periods.length, refused: Boolean(problem) }),
);
