import { SegmentedControl, VisuallyHidden } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { useRecord } from '../record/use-record.ts'
import classes from './workspace.module.css'

export interface Panel {
  readonly name: string
  readonly content: ReactNode
}

export interface WorkspaceProps {
  readonly panels: readonly Panel[]
  /** The panel shown first. Default: the first. */
  readonly first?: string
  readonly children: ReactNode
}

/** A letter with what belongs beside it. In a narrow window, one of them is shown; none of them loses its text. */
export function Workspace({ panels, first, children }: WorkspaceProps) {
  const { id } = useRecord()
  const names = panels.map(({ name }) => name)
  const [shown, setShown] = useState(first ?? 'Letter')
  const panel = shown === 'Letter' ? names[0] : shown
  return (
    <div className={classes.workspace} data-shown={shown === 'Letter' ? 'letter' : 'panel'}>
      <div className={classes.bar}>
        <Link to={`/clients/${id}/letters`} className={classes.back} preventScrollReset>
          <IconArrowLeft size={15} aria-hidden />
          All letters
        </Link>
        <SegmentedControl
          className={classes.narrow}
          aria-label="Show"
          size="xs"
          fullWidth
          data={['Letter', ...names]}
          value={shown}
          onChange={setShown}
        />
      </div>
      <section className={classes.letter} aria-label="Letter">
        {children}
      </section>
      <aside className={classes.panel} aria-label="Beside the letter">
        {names.length > 1 && (
          <SegmentedControl
            className={classes.wide}
            aria-label="Beside the letter"
            size="xs"
            fullWidth
            data={names}
            value={panel ?? ''}
            onChange={setShown}
          />
        )}
        {panels.map(({ name, content }) => (
          <div key={name} className={classes.content} hidden={name !== panel}>
            <VisuallyHidden component="h2">{name}</VisuallyHidden>
            {content}
          </div>
        ))}
      </aside>
    </div>
  )
}
