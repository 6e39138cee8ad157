import{a as o}from"./chunk-OOJM4CTU.js";var p=o((r,e)=>{e.exports={}});export{p as a};
