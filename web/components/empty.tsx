import type { ReactNode } from 'react'
import classes from './empty.module.css'

/** Shown in place of an empty list, with a hint. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <h2>{title}</h2>
      {children}
    </div>
  )
}
