import classes from './first.module.css'

/** In place of a text that is not here yet. */
export function Lines() {
  return (
    <div aria-hidden>
      {['a', 'b', 'c', 'd'].map((key) => (
        <span key={key} className={classes.line} />
      ))}
    </div>
  )
}
