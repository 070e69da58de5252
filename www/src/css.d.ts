/** Rules as a text, made small; `scripts/css.js`. */
declare module "*.css" {
  const css: string;
  export default css;
}
