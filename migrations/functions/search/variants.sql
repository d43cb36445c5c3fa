-- The spellings of a word that searches take for the same, itself first. At most 16: the later letters of a long word have only one.
create or replace function variants(p_word text) returns text[] language plpgsql immutable parallel safe set search_path from current as $$
declare
  v_variants text[] := array[''];
  v_part text;
  v_others text[];
begin
  while p_word <> '' loop
    v_part := left(p_word, 2);
    v_others := case v_part
      when 'ss' then array['ß'] when 'th' then array['þ'] when 'ae' then array['æ', 'a'] when 'oe' then array['œ', 'ø', 'o']
      when 'ue' then array['u'] when 'aa' then array['a'] end;
    if v_others is null then
      v_part := left(p_word, 1);
      v_others := case v_part
        when 'l' then array['ł'] when 'o' then array['ø'] when 'd' then array['đ'] when 'i' then array['ı']
        when 'ł' then array['l'] when 'ø' then array['o', 'oe'] when 'đ' then array['d'] when 'ð' then array['d']
        when 'ı' then array['i'] when 'ß' then array['ss'] when 'þ' then array['th'] when 'æ' then array['ae']
        when 'œ' then array['oe'] else '{}' end;
    end if;
    if cardinality(v_variants) * (cardinality(v_others) + 1) > 16 then v_others := '{}'; end if;
    v_variants := array(select v || p from unnest(v_part || v_others) p, unnest(v_variants) v);
    p_word := substr(p_word, length(v_part) + 1);
  end loop;
  return v_variants;
end $$;
