import type { ReactNode } from 'react'
import classes from './empty.module.css'

/** What stands where there is nothing, and what to do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <h2>{title}</h2>
      {children}
    </div>
  )
}
