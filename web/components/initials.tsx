import classes from './initials.module.css'

/** A person's initials, always beside the name or with the name as a title. */
export function Initials({ name }: { readonly name: string }) {
  const words = name.split(/\s+/).filter((word) => word !== '')
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => word?.[0] ?? '')
  return (
    <span className={classes.initials} aria-hidden>
      {letters.join('').toUpperCase()}
    </span>
  )
}
