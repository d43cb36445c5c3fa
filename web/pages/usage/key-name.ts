/** Developers do not read the names of other people's scratch keys. */
export const nameOfKey = ({ id, name }: { readonly id: string; readonly name: string | null }): string =>
  name === '' ? 'A scratch key' : (name ?? id)
