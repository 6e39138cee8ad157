// PostGraphile over the gateway's tables. Its rule that only the first column of an index sorts would forbid
// the order of the list.
import { makePgService } from "postgraphile/adaptors/pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

export default {
  extends: [PostGraphileAmberPreset],
  disablePlugins: ["PgIndexBehaviorsPlugin"],
  pgServices: [
    makePgService({
      connectionString: process.env.DATABASE,
      schemas: ["public"],
      poolConfig: { max: 20 },
    }),
  ],
  grafserv: { host: "127.0.0.1", port: Number(process.env.PORT) },
};
