declare module "tesseract.js-core/tesseract-core-simd-lstm.js" {
  /** As tesseract.ts describes it. */
  const open: unknown
  export default open
}
