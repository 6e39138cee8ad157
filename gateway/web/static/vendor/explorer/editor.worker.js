import"./chunk-SLQEF3L2.js";import"./chunk-IGBAHYH7.js";import"./chunk-7FICXZSP.js";import"./chunk-4L5RI3VG.js";
