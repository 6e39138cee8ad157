// `fetch` needs no packages; orval writes hooks of React Query and schemas of zod from the same document.
export default {
  duograph: {
    input: "openapi.json",
    output: { target: "generated/rest.ts", client: "fetch", baseUrl: { runtime: "process.env.DUOGRAPH" } },
  },
};
