-- Whether a word is long enough that an index finds parts of words by it: three letters in its shortest spelling.
create or replace function is_long(p_word text) returns boolean language sql immutable parallel safe
  return regexp_count(p_word, 'ss|th|ae|oe|ue|aa|.') >= 3;
