/**
 * A table expression for a statement that counts something: its transaction commits without waiting for the disk. Otherwise
 * a flood of guesses would keep the disk busy, and every read, which waits for its audit row. The count is there at once;
 * a crash of the database server may lose those of the last second.
 */
export const unflushed = `(select set_config('synchronous_commit', 'off', true)) unflushed`
