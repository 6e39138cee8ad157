import{a}from"./chunk-TSF6SQFQ.js";import"./chunk-OOJM4CTU.js";export default a();
