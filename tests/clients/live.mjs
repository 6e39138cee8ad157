// Follows changes by graphql-ws and graphql-sse, over a connection that is cut again and again.
// Prints the ids that each of them was told, one line for each client.

import { createClient as createEvents } from "graphql-sse";
import { createClient as createSocket } from "graphql-ws";
import WebSocket from "ws";

const [address, token, position, count] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const query = "subscription ($after: String) { changes(after: $after) { change { position resourceId } } }";
const again = { retryAttempts: Infinity, shouldRetry: () => true, retryWait: () => new Promise((done) => setTimeout(done, 20)) };

async function follow(name, client) {
  const variables = { after: position };
  const ids = [];
  for await (const { data } of client.iterate({ query, variables })) {
    ids.push(data.changes.change.resourceId);
    // Where the next connection goes on.
    variables.after = data.changes.change.position;
    if (ids.length === Number(count)) break;
  }
  console.log(name, ...ids);
}

const url = `${address}/graphql`;
await Promise.all([
  follow("graphql-ws", createSocket({ url: url.replace("http", "ws"), webSocketImpl: WebSocket, connectionParams: headers, ...again })),
  follow("graphql-sse", createEvents({ url, headers, retry: again.retryWait, ...again })),
]);
process.exit(0);
