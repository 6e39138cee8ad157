// What the meter of new passwords judges by: the same lists and rules as the server's.
export { default as judge } from "zxcvbn";
