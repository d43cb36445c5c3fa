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
