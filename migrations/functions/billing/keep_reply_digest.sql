-- The digest of a stored reply comes from the reply.
create or replace function keep_reply_digest() returns trigger language plpgsql set search_path from current as $$
begin
  new.digest := reply_digest(new);
  return new;
end $$;
