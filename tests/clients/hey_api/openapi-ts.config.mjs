// The extension is what Node.js needs to import the modules without a bundler.
export default { input: "openapi.json", output: { path: "generated", module: { extension: ".js" } } };
