const folder = process.env['NODE_COMPILE_CACHE']

/** Where the runtime keeps compiled code during the checks, for children with an environment of their own. */
export const compiled: Readonly<Record<string, string>> = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
