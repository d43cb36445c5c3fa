import tables from './table.module.css'

/** The head of a column with menus or buttons, which only screen readers need. */
export function ActionsHead({ narrow = false }: { readonly narrow?: boolean }) {
  return (
    <th scope="col" className={narrow ? tables.actions : undefined}>
      <span className={tables.hidden}>Actions</span>
    </th>
  )
}
