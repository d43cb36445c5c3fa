import type { ReactNode } from 'react'
import classes from './me.module.css'

interface RowProps {
  readonly icon: ReactNode
  readonly title: string
  /** Beside the title. */
  readonly badge?: ReactNode
  readonly about: ReactNode
  readonly actions?: ReactNode
}

/** One way to sign in, with its state and what can be changed. */
export function Row({ icon, title, badge, about, actions }: RowProps) {
  return (
    <li className={classes.row}>
      {icon}
      <div className={classes.what}>
        <p>
          <strong>{title}</strong>
          {badge}
        </p>
        <p className={classes.about}>{about}</p>
      </div>
      {actions !== undefined && <div className={classes.actions}>{actions}</div>}
    </li>
  )
}
