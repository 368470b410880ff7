package recovery

// Restore is the commands that restore databases.
type Restore struct {
	From   From   `cmd:"" default:"withargs" help:"Restore all databases from a backup while no program runs: rotaloom restore FOLDER."`
	Finish Finish `cmd:"" help:"Finish a restore: list what was lost, end all tokens, keep ids from being given twice, and accept writes again."`

	Orphans Orphans `cmd:"" help:"List the rows that belong to a person, an employment term or a location that does not exist."`
}
