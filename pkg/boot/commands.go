package boot

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// Commands are those of every program, beside serve and migrate.
type Commands struct {
	Version    VersionCommand    `cmd:"" help:"Print the version of the program and of what it carries."`
	Settings   SettingsCommand   `cmd:"" help:"Print all settings as a table: flag, variable, default and meaning."`
	Completion CompletionCommand `cmd:"" help:"Print a script that completes the command line in a shell."`
	Config     ConfigCommand     `cmd:"" passthrough:"" help:"Check the settings of a command and print those that count, without secrets: config [serve] [flags]."`
}

// VersionCommand prints the build.
type VersionCommand struct{}

// BeforeApply prints, and ends the program.
func (VersionCommand) BeforeApply(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, CurrentBuild())
	app.Exit(exitOK)
	return nil
}

// VersionFlag is VersionCommand as a flag.
type VersionFlag bool

// BeforeReset prints, and ends the program before other settings are looked at.
func (VersionFlag) BeforeReset(app *kong.Kong) error { return VersionCommand{}.BeforeApply(app) }

// SettingsCommand prints what Main knows of the settings.
type SettingsCommand struct{}

// BeforeApply prints, and ends the program.
func (SettingsCommand) BeforeApply(app *kong.Kong) error {
	if err := writeSettings(app.Stdout, app.Model); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}
