-- As beginnings(), for whole words.
create or replace function whole_words(p_text text) returns tsquery language sql immutable parallel safe
  return replace(beginnings(p_text)::text, ':*', '')::tsquery;
