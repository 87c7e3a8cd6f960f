"""The only place where Perdure's values meet gRPC: conversion, errors, servers, channels, clients."""
