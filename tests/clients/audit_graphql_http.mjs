// Prints the result of each audit of graphql-http against the server at the given address, as JSON.
import { auditServer } from "graphql-http";

const results = await auditServer({ url: process.argv[2] });
console.log(JSON.stringify(results.map(({ id, name, status, reason }) => ({ id, name, status, reason }))));
