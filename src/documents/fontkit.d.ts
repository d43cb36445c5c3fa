/** The part of the package that is used. */
declare module 'fontkit' {
  export function openSync(file: string): { readonly characterSet: readonly number[] }
}
