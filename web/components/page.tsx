import { useEffect, type ReactNode } from 'react'
import classes from './page.module.css'

export interface PageProps {
  /** The window's title, before the product's name. */
  readonly title: string
  /** Replaces the title as the heading. */
  readonly heading?: ReactNode
  /** Small text beside the heading. */
  readonly aside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A page with its title, actions and content. */
export function Page({ title, heading, aside, actions, children }: PageProps) {
  useTitle(title)
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <div className={classes.heading}>
          {heading ?? <h1>{title}</h1>}
          {aside !== undefined && <span className={classes.aside}>{aside}</span>}
        </div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Sets the window's title while the component is mounted. */
export function useTitle(title: string): void {
  useEffect(() => {
    const before = document.title
    document.title = `${title} · Tollgate`
    return () => {
      document.title = before
    }
  }, [title])
}
