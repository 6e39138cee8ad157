// What the page of the explorer uses of GraphiQL. Its fonts are left out: pages have the system's.
import "@graphiql/react/style.css";
import "@graphiql/plugin-doc-explorer/style.css";
import "@graphiql/plugin-history/style.css";
import "graphiql/graphiql.css";
// Also imported by GraphiQL when it starts; here, so that its styles are in this bundle.
import "monaco-graphql/esm/monaco-editor.js";

export { createGraphiQLFetcher } from "@graphiql/toolkit";
export { GraphiQL } from "graphiql";
export { createElement } from "react";
export { createRoot } from "react-dom/client";
