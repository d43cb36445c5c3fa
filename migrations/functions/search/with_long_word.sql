-- A query, or null if all its words are short: what these find, `beginnings()` finds too.
create or replace function with_long_word(p_text text) returns text language sql immutable parallel safe
  return (select case when bool_or(is_long(word)) then p_text end from string_to_table(words(without_umlauts(p_text)), ' ') word);
