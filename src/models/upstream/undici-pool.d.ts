/** undici's own `Pool`; the package has no types for its single files. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
