alter table session
  -- When the person last proved who they are. Null: unknown, as in sessions that the previous version starts.
  add column proven_at timestamptz;

-- A factor that a signed-in person has begun to show, to confirm who they are.
create table confirmation (
  session_id uuid primary key references session (id) on delete cascade,
  factor     text not null,
  data       jsonb not null,
  tries      integer not null default 0,
  expires_at timestamptz not null
);

-- As in 0053_mailed_links.sql, and also ends what a surviving session has begun to confirm.
create or replace function end_unfinished_sign_ins(people uuid[]) returns void language plpgsql set search_path from current as $$
begin
  delete from sign_in_attempt
  where step = 'proven' and (people is null or person_id = any(people))
    or step = 'begun' and links_to is not null and (people is null or links_to = any(people));
  delete from enrolment
  where people is null or session_id in (select s.id from session s where s.person_id = any(people));
  delete from confirmation
  where people is null or session_id in (select s.id from session s where s.person_id = any(people));
  delete from password_reset
  where people is null or address_key in (select p.email_key from person p where p.id = any(people));
  delete from email_link
  where people is null or address_key in (select p.email_key from person p where p.id = any(people));
end $$;
