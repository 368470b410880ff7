package recovery

// Restore contains the commands that restore databases.
type Restore struct {
	From   From   `cmd:"" default:"withargs" help:"Restore all databases from a backup while no program runs: rotaloom restore FOLDER."`
	Finish Finish `cmd:"" help:"Finish a restore: list what was lost, revoke all tokens, prevent ids from being assigned twice, and accept writes again."`

	Orphans Orphans `cmd:"" help:"List the rows that refer to a missing person, employment term or location."`
}
