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
type VersionCommand struct {
	Output
}

// BeforeApply prints the version and ends the program.
func (VersionCommand) BeforeApply(app *kong.Kong, parsed *kong.Context) error {
	build := CurrentBuild()
	if err := requestedOutput(parsed).PrintLine(app.Stdout, build, "%s", build); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}

// requestedOutput returns the output format of a command that runs before its flags are stored.
func requestedOutput(parsed *kong.Context) (o Output) {
	for _, flag := range parsed.Flags() {
		if flag.Name == outputFlag {
			o.Format, _ = parsed.FlagValue(flag).(string)
		}
	}
	return o
}

// VersionFlag is VersionCommand as a flag.
type VersionFlag bool

// BeforeReset prints the version and ends the program before it reads other settings.
func (VersionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, CurrentBuild())
	app.Exit(exitOK)
	return nil
}

// SettingsCommand prints all settings of the program.
type SettingsCommand struct {
	Output
}

// BeforeApply prints the settings and ends the program.
func (SettingsCommand) BeforeApply(app *kong.Kong, parsed *kong.Context) error {
	if requested := requestedOutput(parsed); requested.JSON() {
		if err := requested.Print(app.Stdout, listSettings(app.Model), nil); err != nil {
			return err
		}
	} else if err := writeSettings(app.Stdout, app.Model); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}
