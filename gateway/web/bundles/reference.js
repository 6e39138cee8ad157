// What the page of the reference uses of Scalar.
import "@scalar/api-reference/style.css";

export { createApiReference } from "@scalar/api-reference";
