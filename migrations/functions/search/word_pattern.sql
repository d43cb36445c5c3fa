-- A regular expression for a word of a query in all its spellings, to be compared with `words()` or `spelling()` of a text. The pages have the
-- same in src/platform/text/spelling.ts.
create or replace function word_pattern(p_word text) returns text language sql immutable parallel safe
  return (select string_agg(case part
      when 'ss' then '(ss|ß)' when 'th' then '(th|þ)' when 'ae' then '(ae|æ|a)' when 'oe' then '(oe|œ|ø|o)'
      when 'ue' then '(ue|u)' when 'aa' then '(aa|a)' when 'l' then '[lł]' when 'o' then '[oø]' when 'd' then '[dđ]'
      when 'i' then '[iı]' when 'ł' then '[łl]' when 'ø' then '(ø|oe?)' when 'đ' then '[đd]' when 'ð' then '[ðd]'
      when 'ı' then '[ıi]' when 'ß' then '(ß|ss)' when 'þ' then '(þ|th)' when 'æ' then '(æ|ae)' when 'œ' then '(œ|oe)'
      else part end, '' order by place)
    from regexp_matches(p_word, 'ss|th|ae|oe|ue|aa|.', 'g') with ordinality as each (parts, place)
      cross join lateral unnest(parts) part);
