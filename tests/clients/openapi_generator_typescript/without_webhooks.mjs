// The modules that typescript-fetch 7.26 writes for the requests of `webhooks` do not compile.
import { readFileSync, writeFileSync } from "node:fs";

const { webhooks, ...rest } = JSON.parse(readFileSync("openapi.json", "utf8"));
writeFileSync("rest.json", JSON.stringify(rest));
