package pg

import "github.com/jackc/pgx/v5/pgxpool"

// Pool is the connections of a process to one database.
type Pool = pgxpool.Pool
