import classes from './wordmark.module.css'

export function Wordmark() {
  return (
    <span className={classes.wordmark}>
      <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden>
        <rect width="32" height="32" rx="8" className={classes.tile} />
        <path d="M10 24V12M6.5 24h7M10 14.5 24.5 8M15.5 12v4M20.5 9.8v4" className={classes.gate} />
      </svg>
      Tollgate
    </span>
  )
}
