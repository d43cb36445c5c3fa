-- Whether a person wrote any of a letter's text: a version of it, or of the letters that it was copied from, up to one that was sent.
create or replace function wrote_letter(p_letter uuid, p_person uuid) returns boolean language sql stable set search_path from current as $$
  with recursive copied as (
    select id, previous_id from letter where id = p_letter
    union select l.id, l.previous_id from letter l join copied c on l.id = c.previous_id where l.status <> 'sent')
  select exists (
    select from copied cross join lateral (
      select person_id, jsonb_build_array(data -> 'subject', data -> 'body') as text,
        lag(jsonb_build_array(data -> 'subject', data -> 'body')) over (order by version) as was
      from revision where noun_id = copied.id) written
    where person_id is not distinct from p_person and text is distinct from was)
$$;
