package boot

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// Commands are the commands of every program, in addition to serve and migrate.
type Commands struct {
	Version    VersionCommand    `cmd:"" help:"Print the versions of the program and of its embedded data."`
	Settings   SettingsCommand   `cmd:"" help:"Print all settings as a table: flag, variable, default and meaning."`
	Completion CompletionCommand `cmd:"" help:"Print a script that completes the command line in a shell."`
	Config     ConfigCommand     `cmd:"" passthrough:"" help:"Check the settings of a command and print their effective values, without secrets: config [serve] [flags]."`
}

// VersionCommand prints the build.
type VersionCommand struct{}

// BeforeApply prints the version and ends the program.
func (VersionCommand) BeforeApply(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, CurrentBuild())
	app.Exit(exitOK)
	return nil
}

// VersionFlag is VersionCommand as a flag.
type VersionFlag bool

// BeforeReset prints the version and ends the program before it reads other settings.
func (VersionFlag) BeforeReset(app *kong.Kong) error { return VersionCommand{}.BeforeApply(app) }

// SettingsCommand prints all settings of the program.
type SettingsCommand struct{}

// BeforeApply prints the settings and ends the program.
func (SettingsCommand) BeforeApply(app *kong.Kong) error {
	if err := writeSettings(app.Stdout, app.Model); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}
